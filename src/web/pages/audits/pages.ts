import { getAuditOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { lazyViews, page } from '../page.ts'
import { AUDITS } from './queries.ts'

const paths = PAGE_PATHS.audits
const view = lazyViews(() => import('./views.ts'))

export const auditsPages = [
  page({ path: paths.list, search: AUDITS, view: view('AuditsPage') }),
  page({ path: paths.new, view: view('NewAuditPage') }),
  page({
    path: paths.item,
    queries: ({ id }) => [getAuditOptions({ path: { id } })],
    view: view('AuditPage'),
  }),
] as const
