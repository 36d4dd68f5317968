import { plugin } from 'bun'

/*
 * To be loaded before a program (`bun test --preload`): its list of alert types then has one line more. Nothing else of it
 * is changed.
 */

plugin({
  name: 'one alert type more',
  setup(build) {
    build.onLoad({ filter: /\/src\/alerts\/types\/index\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text()
      const listed = source.replace('  journey,\n]', '  journey,\n  orderLimit,\n]')
      if (listed === source) throw new Error('the list of alert types looks different now')
      return { contents: `import { orderLimit } from './order-limit.fixture.ts'\n${listed}`, loader: 'ts' }
    })
  },
})
