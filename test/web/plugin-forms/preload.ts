import { plugin } from 'bun'
import '../../alerts/add-alert-type.ts'

/*
 * Loaded before the program: adds an alert type, a provider that is both channel and integration, and an insight to its lists.
 */

/** The files with the lists, and the text to insert. */
const INSERTIONS: readonly [file: RegExp, before: string, after: string, name?: string, module?: string][] = [
  [/\/src\/integrations\/integration\.ts$/, "'email_digest'] as const", "'email_digest', 'pager'] as const"],
  [/\/src\/alerts\/alert\.ts$/, "'issue_tracker'] as const", "'issue_tracker', 'pager'] as const"],
  [/\/src\/integrations\/providers\/index\.ts$/, 'webhook],', 'webhook, pager],', 'pager', 'pager-provider'],
  [/\/src\/insights\/index\.ts$/, '  weeklyReport,\n]', '  weeklyReport,\n  rings,\n]', 'rings', 'rings-insight'],
]

plugin({
  name: 'additional plug-ins',
  setup(build) {
    for (const [filter, before, after, name, module] of INSERTIONS) {
      build.onLoad({ filter }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const listed = source.replace(before, after)
        if (listed === source) throw new Error(`${path} does not contain the expected list`)
        const added = name ? `import { ${name} } from '${import.meta.dir}/${module}.ts'\n` : ''
        return { contents: added + listed, loader: 'ts' }
      })
    }
  },
})
