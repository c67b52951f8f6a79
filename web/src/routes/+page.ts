import { redirect } from '@sveltejs/kit';

import { urls } from '$lib/urls';

export const load = () => redirect(307, urls.lab());
