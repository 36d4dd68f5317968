import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'

/** Links between tests and audits. */
export function SectionLinks({ here }: { here: 'tests' | 'audits' }) {
  return (
    <TabLinks
      name={messages.tests.sections}
      links={(['tests', 'audits'] as const).map((one) => ({
        key: one,
        label: messages.tests[one],
        isHere: one === here,
        link: { to: PAGE_PATHS[one].list },
      }))}
    />
  )
}
