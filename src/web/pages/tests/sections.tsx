import { SubLinks } from '../../parts/sub-links.tsx'
import { words } from '../../words.ts'

/** The links between tests and audits. */
export function Sections({ here }: { here: 'tests' | 'audits' }) {
  return (
    <SubLinks
      name={words.tests.sections}
      links={(['tests', 'audits'] as const).map((one) => ({
        ...{ key: one, label: words.tests[one], isHere: one === here },
        link: { to: `/${one}` },
      }))}
    />
  )
}
