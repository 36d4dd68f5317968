import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { prefetch, prefetchPages, shared } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { CONNECT, integrationsQuery } from './queries.ts'

const pages = room(() => import('./pages.ts'))

export const integrationsRoutes = [
  createRoute({
    ...at,
    path: '/integrations',
    ...search({}),
    loader() {
      prefetchPages(integrationsQuery())
      prefetch(shared.forms())
    },
    component: lazyRouteComponent(pages, 'IntegrationsPage'),
  }),
  createRoute({
    ...at,
    path: '/integrations/new',
    ...search(CONNECT),
    component: lazyRouteComponent(pages, 'ConnectPage'),
  }),
  createRoute({
    ...at,
    path: '/integrations/$id',
    ...search({}),
    component: lazyRouteComponent(pages, 'IntegrationPage'),
  }),
] as const
