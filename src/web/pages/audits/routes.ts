import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getAuditOptions } from '#client/@tanstack/react-query.gen'
import { search } from '../../address/page-search.ts'
import { prefetch } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'

const pages = room(() => import('./pages.ts'))

export const auditsRoutes = [
  createRoute({
    ...at,
    path: '/audits',
    ...search({}),
    component: lazyRouteComponent(pages, 'AuditsPage'),
  }),
  createRoute({
    ...at,
    path: '/audits/new',
    ...search({}),
    component: lazyRouteComponent(pages, 'NewAuditPage'),
  }),
  createRoute({
    ...at,
    path: '/audits/$id',
    ...search({}),
    loader: ({ params: { id } }) => prefetch(getAuditOptions({ path: { id } })),
    component: lazyRouteComponent(pages, 'AuditPage'),
  }),
] as const
