import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { at, room } from '../../shell/root.ts'
import { DOMAINS } from './address.ts'

const pages = room(() => import('./pages.ts'))

export const domainsRoutes = [
  createRoute({
    ...at,
    path: '/domains',
    ...search(DOMAINS),
    component: lazyRouteComponent(pages, 'DomainsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/domains/$id/live', params, replace: true })
    },
  }),
  createRoute({
    ...at,
    path: '/domains/new',
    ...search({}),
    component: lazyRouteComponent(pages, 'AddDomainPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/setup',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainSetupPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/live',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainLivePage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/hostnames',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainHostnamesPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/vendors',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainVendorsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/sampling',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainSamplingPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/settings',
    ...search({}),
    component: lazyRouteComponent(pages, 'DomainSettingsPage'),
  }),
] as const
