import { plugin } from 'bun'

/* Preload script (`bun test --preload`) that adds one entry to the program's list of alert types. */

plugin({
  name: 'add an alert type',
  setup(build) {
    build.onLoad({ filter: /\/src\/alerts\/types\/index\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text()
      const listed = source.replace('  journey,\n]', '  journey,\n  orderLimit,\n]')
      if (listed === source) throw new Error('the list of alert types has changed; adapt this plugin')
      return { contents: `import { orderLimit } from './order-limit.fixture.ts'\n${listed}`, loader: 'ts' }
    })
  },
})
