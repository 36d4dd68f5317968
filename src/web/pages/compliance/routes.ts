import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { COMPLIANCE, findingsQueries } from './queries.ts'

const pages = room(() => import('./compliance-page.tsx'))

export const complianceRoutes = [
  createRoute({
    ...at,
    path: '/compliance',
    ...search(COMPLIANCE),
    loaderDeps: ({ search }) => search,
    loader({ deps }) {
      const { personal, consent } = findingsQueries(valuesOf({ ...SHARED, ...COMPLIANCE }, deps))
      prefetchPages(personal)
      prefetchPages(consent)
      prefetch(shared.domains())
    },
    component: lazyRouteComponent(pages, 'CompliancePage'),
  }),
] as const
