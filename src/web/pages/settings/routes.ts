import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { at, room } from '../../shell/root.ts'

const pages = room(() => import('./pages.ts'))

export const settingsRoutes = [
  createRoute({
    ...at,
    path: '/settings/organization',
    ...search({}),
    component: lazyRouteComponent(pages, 'OrganizationPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/projects',
    ...search({}),
    component: lazyRouteComponent(pages, 'ProjectsPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/members',
    ...search({}),
    component: lazyRouteComponent(pages, 'MembersPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/keys',
    ...search({}),
    component: lazyRouteComponent(pages, 'KeysPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/digest',
    ...search({}),
    component: lazyRouteComponent(pages, 'DigestPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/usage',
    ...search({}),
    component: lazyRouteComponent(pages, 'UsagePage'),
  }),
  createRoute({
    ...at,
    path: '/settings/audit-log',
    ...search({}),
    component: lazyRouteComponent(pages, 'AuditLogPage'),
  }),
  createRoute({
    ...at,
    path: '/settings/preferences',
    ...search({}),
    component: lazyRouteComponent(pages, 'PreferencesPage'),
  }),
] as const
