import { PageHead } from '../../parts/page-head.tsx'
import { words } from '../../words.ts'

/** `/`: whether all is well, and if not, the worst thing first. */
export function OverviewPage() {
  return <PageHead title={words.shell.pages.overview} />
}
