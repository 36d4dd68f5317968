import { plugin } from 'bun'
import '../../alerts/add-alert-type.ts'

/*
 * To be loaded before a program: beside one type of alert its lists have one provider, which is a channel and an integration,
 * and one insight more. Nothing else of it is changed.
 */

/** Which file has a list, and its line more. */
const LINES: readonly [file: RegExp, before: string, after: string, name?: string, module?: string][] = [
  [/\/src\/integrations\/integration\.ts$/, "'email_digest'] as const", "'email_digest', 'pager'] as const"],
  [/\/src\/alerts\/alert\.ts$/, "'issue_tracker'] as const", "'issue_tracker', 'pager'] as const"],
  [/\/src\/integrations\/providers\/index\.ts$/, 'webhook],', 'webhook, pager],', 'pager', 'pager-provider'],
  [/\/src\/insights\/index\.ts$/, '  weeklyReport,\n]', '  weeklyReport,\n  rings,\n]', 'rings', 'rings-insight'],
]

plugin({
  name: 'one of each more',
  setup(build) {
    for (const [filter, before, after, name, module] of LINES) {
      build.onLoad({ filter }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const listed = source.replace(before, after)
        if (listed === source) throw new Error(`the list in ${path} looks different now`)
        const added = name ? `import { ${name} } from '${import.meta.dir}/${module}.ts'\n` : ''
        return { contents: added + listed, loader: 'ts' }
      })
    }
  },
})
