import adapter from '@sveltejs/adapter-static';

/** @type {import('@sveltejs/kit').Config} */
export default {
  kit: {
    // A single page that the server sends for every address it does not know itself.
    adapter: adapter({ fallback: 'index.html', precompress: true }),
    // A fixed name instead of the time keeps builds reproducible. A tab has all pages soon after its
    // first (`lib/ahead.ts`), so that nothing is loaded from a lab that was upgraded since.
    version: { name: 'cartridge' },
  },
};
