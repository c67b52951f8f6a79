/** A typed door to the REST API: paths, parameters, bodies and answers come from `schema.ts`. */
import { redirect } from '@sveltejs/kit';
import { goto } from '$app/navigation';
import { query, urls } from '$lib/urls';

import { curlOf } from './curl';
import { door } from './door';
import type { paths } from './schema';
import type { Problem } from './types';

type Method = 'get' | 'post' | 'put' | 'delete';
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M & keyof paths[P]]>;

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;
/** What comes back; where that is nothing, an object that only has its recipe. */
type Answer<O> = O extends { responses: infer R }
  ? 204 extends keyof R
    ? object
    : Json<R[keyof R & (200 | 201 | 202)]>
  : never;
type Part<O, K extends 'path' | 'query'> = O extends { parameters: { [_ in K]?: infer T } }
  ? NonNullable<T>
  : never;
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : never;

type Field<K extends string, T> = [T] extends [never] ? unknown : { [_ in K]: T };
type Optional<K extends string, T> = [T] extends [never] ? unknown : { [_ in K]?: T };
type Options<O> = Field<'path', Part<O, 'path'>> &
  Optional<'query', Part<O, 'query'>> &
  Field<'body', Body<O>> & { fetch?: typeof fetch; signal?: AbortSignal };

/** A failed request, with the server's problem document. */
export class ApiProblem extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title);
    this.name = 'ApiProblem';
  }

  get status(): number {
    return this.problem.status;
  }

  /** The complaint about one field of the request body, such as `/learning_rate`. */
  at(pointer: string): string | undefined {
    const detail = this.problem.errors?.find((error) => error.pointer === pointer)?.detail;
    // Beside a field its path says nothing that its label does not.
    const path = `\`${pointer.slice(1).replaceAll('/', '.')}\`: `;
    return detail?.startsWith(path) ? detail.slice(path.length) : detail;
  }
}

export const api = {
  get: <P extends PathsWith<'get'>>(path: P, options: Options<Operation<P, 'get'>>) =>
    request('GET', path, options) as Promise<Answer<Operation<P, 'get'>>>,
  post: <P extends PathsWith<'post'>>(path: P, options: Options<Operation<P, 'post'>>) =>
    request('POST', path, options) as Promise<Answer<Operation<P, 'post'>>>,
  put: <P extends PathsWith<'put'>>(path: P, options: Options<Operation<P, 'put'>>) =>
    request('PUT', path, options) as Promise<Answer<Operation<P, 'put'>>>,
  delete: <P extends PathsWith<'delete'>>(path: P, options: Options<Operation<P, 'delete'>>) =>
    request('DELETE', path, options) as Promise<Answer<Operation<P, 'delete'>>>,
};

/** How a change that was made here is made again from a shell. */
export interface Recipe {
  /** The command line, where there is one. */
  command: string | null;
  curl: string;
}

const recipes = new WeakMap<object, Recipe>();

/** The recipe that came with the answer to a change. */
export function recipeOf(answer: object | null | undefined): Recipe | null {
  return (answer && recipes.get(answer)) ?? null;
}

const commands = new WeakMap<Problem, string>();

/** A problem with the request that met it, as it would be sent from a shell. */
function refused(problem: Problem, method: string, url: string, body?: unknown): ApiProblem {
  commands.set(problem, curlOf({ method, url: new URL(url, location.origin).href, body }));
  return new ApiProblem(problem);
}

/** The request that failed, for a shell; none where nothing was asked of the lab. */
export function curlFor(problem: Problem): string | null {
  return commands.get(problem) ?? null;
}

interface AnyOptions {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
  /** Given by `load` functions, and only by them. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
}

async function request(method: string, template: string, given: unknown): Promise<unknown> {
  const options = given as AnyOptions;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(options.path?.[name])),
  );
  const url = door.url(path) + query(options.query);
  // Who logs in has a secret in the request.
  const refuse = (problem: Problem) =>
    template === '/api/login'
      ? new ApiProblem(problem)
      : refused(problem, method, url, options.body);
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(url, {
      method,
      signal: options.signal ?? null,
      headers: {
        accept: 'application/json',
        ...door.headers(),
        ...(method === 'GET' ? {} : { 'idempotency-key': newKey() }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw refuse(unreachable());
  }
  const answer = response.status === 204 ? {} : await readAnswer(response);
  if (response.ok && answer !== undefined) {
    const curl = response.headers.get('cartridge-curl');
    if (curl && typeof answer === 'object' && answer !== null) {
      recipes.set(answer, { command: response.headers.get('cartridge-command'), curl });
    }
    return answer;
  }
  const problem = problemOf(response, answer);
  if (problem.status === 401 && template !== '/api/login')
    await toLogin(options.fetch !== undefined);
  // A page that was put somewhere without a lab: who opened it knows where the lab is.
  if (problem.code === 'no_lab' && options.fetch) await toLogin(true);
  throw refuse(problem);
}

/** The JSON of an answer, `undefined` where it is none. */
async function readAnswer(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

/** A file of the lab that is no JSON, as a whole, with the name that the lab gives it. */
export async function getFile(path: string, signal?: AbortSignal): Promise<File> {
  let response: Response;
  try {
    response = await fetch(door.url(path), { signal: signal ?? null, headers: door.headers() });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw refused(unreachable(), 'GET', door.url(path));
  }
  if (response.ok) {
    const told = response.headers.get('content-disposition') ?? '';
    const name =
      /filename="([^"]+)"/.exec(told)?.[1] ?? path.replace(/[?].*/, '').split('/').at(-1);
    return new File([await response.blob()], name ?? '');
  }
  throw refused(problemOf(response, await readAnswer(response)), 'GET', door.url(path));
}

/** A name for one action, by which the lab knows it when it is asked for again. */
function newKey(): string {
  // Not `randomUUID`, which browsers hide from pages that come over plain HTTP from another machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function problemOf(response: Response, answer: unknown): Problem {
  const problem = answer as Problem | undefined;
  if (typeof problem?.title === 'string') return { ...problem, status: response.status };
  // A server of files has answered, perhaps with a page.
  if (response.ok || response.status === 404 || response.status === 405) return noLab();
  // A proxy or a crash answered. The status says what we know.
  return {
    type: 'about:blank',
    title: `The lab answered ${response.status}`,
    status: response.status,
    detail: response.statusText,
    code: 'unreadable',
    request_id: response.headers.get('x-request-id') ?? '',
  };
}

function unreachable(): Problem {
  const allowed = `\nIt answers this page only when it was started with \`--allow-origin ${location.origin}\`.`;
  return {
    type: 'about:blank',
    title: 'The lab does not answer',
    status: 0,
    detail:
      'Is `cartridge up` still running? The page goes on by itself when it is back.' +
      (door.isElsewhere ? allowed : ''),
    code: 'unreachable',
    request_id: '',
  };
}

function noLab(): Problem {
  return {
    type: 'about:blank',
    title: 'There is no lab here',
    status: 404,
    detail: 'These pages are hosted without one. Log in with the address of a lab.',
    code: 'no_lab',
    request_id: '',
  };
}

/** Leads to the login page and remembers where we were; while loading a page, by a redirect. */
async function toLogin(loading: boolean): Promise<void> {
  if (location.pathname === urls.login()) return;
  const here = location.pathname + location.search;
  const login = urls.login({ next: here === urls.home ? undefined : here });
  if (loading) redirect(307, login);
  await goto(login, { replaceState: true });
}

/** Any thrown value as a problem that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiProblem) return error.problem;
  return {
    type: 'about:blank',
    title: 'Something went wrong on this page',
    status: 0,
    detail: error instanceof Error ? error.message : String(error),
    code: 'page',
    request_id: '',
  };
}
