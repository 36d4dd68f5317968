import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const settingsRoutes = [
  createRoute({
    ...underRoot,
    path: '/settings/organization',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'OrganizationPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/projects',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'ProjectsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/members',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'MembersPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/keys',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'ApiKeysPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/digest',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'DigestPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/usage',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'UsagePage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/audit-log',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'AuditLogPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/settings/preferences',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'PreferencesPage'),
  }),
] as const
