import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'

/** Links between the pages about compliance. */
export function ComplianceLinks({ here }: { here: keyof typeof PAGE_PATHS.compliance }) {
  const t = messages.beforeConsent
  const labels = { findings: t.findings, 'before-consent': t.title }
  return (
    <TabLinks
      name={t.nav}
      links={(['findings', 'before-consent'] as const).map((name) => ({
        key: name,
        label: labels[name],
        isHere: name === here,
        // The path of the findings is the start of the other one.
        link: { to: PAGE_PATHS.compliance[name], activeOptions: { exact: true } },
      }))}
    />
  )
}
