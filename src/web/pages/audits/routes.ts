import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getAuditOptions } from '#client/@tanstack/react-query.gen'
import { prefetch } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const auditsRoutes = [
  createRoute({
    ...underRoot,
    path: '/audits',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'AuditsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/audits/new',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'NewAuditPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/audits/$id',
    ...routeSearch({}),
    loader: ({ params: { id } }) => prefetch(getAuditOptions({ path: { id } })),
    component: lazyRouteComponent(pages, 'AuditPage'),
  }),
] as const
