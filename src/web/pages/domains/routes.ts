import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { getDomainOptions } from '#client/@tanstack/react-query.gen'
import { search } from '../../address/page-search.ts'
import { SHARED, valuesOf } from '../../address/search.ts'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { at, room } from '../../shell/root.ts'
import { DOMAINS, domainsQuery } from './queries.ts'

const pages = room(() => import('./pages.ts'))

/** Options of every page of a domain. */
const ofOne = {
  ...search({}),
  loader: ({ params: { id } }: { params: { id: string } }) => prefetch(getDomainOptions({ path: { id } })),
}

export const domainsRoutes = [
  createRoute({
    ...at,
    path: '/domains',
    ...search(DOMAINS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => prefetchPages(domainsQuery(valuesOf({ ...SHARED, ...DOMAINS }, deps))),
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
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSetupPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/live',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainLivePage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/hostnames',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainHostnamesPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/vendors',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainVendorsPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/sampling',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSamplingPage'),
  }),
  createRoute({
    ...at,
    path: '/domains/$id/settings',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSettingsPage'),
  }),
] as const
