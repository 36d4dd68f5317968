import { plugin } from 'bun'
import '../../alerts/add-alert-type.ts'

/*
 * Is loaded before the program. Adds an alert type, an insight, and a provider for both channels and integrations to
 * the program's lists.
 */

/** The files that contain the lists, the position in each file, and the code that is inserted there. */
const INSERTIONS: readonly [file: RegExp, before: RegExp, after: string, name?: string, module?: string][] = [
  // Both lists of titles. A file can have only one entry.
  [
    /\/src\/contract\/products\.ts$/,
    /(?<=issue_tracker: 'Jira',|email_digest: 'E-mail digest',)/g,
    "\n  pager: 'Pager',",
  ],
  [
    /\/src\/integrations\/providers\/index\.ts$/,
    /(?<=\bwebhookChannel),?(?=\s*\])/,
    ', pagerChannel',
    'pagerChannel',
    'pager-provider',
  ],
  [
    /\/src\/connectors\.ts$/,
    /(?<=\bgoogleTagManager),?(?=\s*\])/,
    ', pagerConnector',
    'pagerConnector',
    'pager-provider',
  ],
  [/\/src\/insights\/index\.ts$/, /(?<=\bweeklyReport),?(?=\s*\])/, ', rings', 'rings', 'rings-insight'],
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
