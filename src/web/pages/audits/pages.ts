import { getAuditOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { lazyView, page } from '../page.ts'
import { AUDITS } from './queries.ts'

const paths = PAGE_PATHS.audits

export const auditsPages = [
  page({ path: paths.list, search: AUDITS, view: lazyView(() => import('./audits-page.tsx'), 'AuditsPage') }),
  page({ path: paths.new, view: lazyView(() => import('./new-audit-page.tsx'), 'NewAuditPage') }),
  page({
    path: paths.item,
    queries: ({ id }) => [getAuditOptions({ path: { id } })],
    view: lazyView(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const
