import { messages } from '../../messages.ts'
import { SubLinks } from '../../parts/sub-links.tsx'

/** Links between tests and audits. */
export function SectionLinks({ here }: { here: 'tests' | 'audits' }) {
  return (
    <SubLinks
      name={messages.tests.sections}
      links={(['tests', 'audits'] as const).map((one) => ({
        ...{ key: one, label: messages.tests[one], isHere: one === here },
        link: { to: `/${one}` },
      }))}
    />
  )
}
