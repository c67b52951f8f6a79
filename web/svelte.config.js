import adapter from '@sveltejs/adapter-static';

/** @type {import('@sveltejs/kit').Config} */
export default {
  kit: {
    // A single page that the server sends for every address it does not know itself.
    adapter: adapter({ fallback: 'index.html', precompress: true }),
    // All of the app in one script: it is small, and a tab that has it can go to any page while the
    // lab is away, or after it was upgraded, and say what is wrong.
    output: { bundleStrategy: 'single' },
    // A fixed name instead of the time keeps builds reproducible; nothing is loaded later.
    version: { name: 'cartridge' },
  },
};
