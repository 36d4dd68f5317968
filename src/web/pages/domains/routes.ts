import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { getDomainOptions } from '#client/@tanstack/react-query.gen'
import { prefetch, prefetchPages } from '../../api/queries.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { SHARED_PARAMS, valuesOf } from '../../url-state/search-params.ts'
import { DOMAINS, domainsQuery } from './queries.ts'

const pages = lazyPages(() => import('./pages.ts'))

/** Route options shared by the pages of a domain. */
const ofOne = {
  ...routeSearch({}),
  loader: ({ params: { id } }: { params: { id: string } }) => prefetch(getDomainOptions({ path: { id } })),
}

export const domainsRoutes = [
  createRoute({
    ...underRoot,
    path: '/domains',
    ...routeSearch(DOMAINS),
    loaderDeps: ({ search }) => search,
    loader: ({ deps }) => prefetchPages(domainsQuery(valuesOf({ ...SHARED_PARAMS, ...DOMAINS }, deps))),
    component: lazyRouteComponent(pages, 'DomainsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/domains/$id/live', params, replace: true })
    },
  }),
  createRoute({
    ...underRoot,
    path: '/domains/new',
    ...routeSearch({}),
    component: lazyRouteComponent(pages, 'AddDomainPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/setup',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSetupPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/live',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainLivePage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/hostnames',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainHostnamesPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/vendors',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainVendorsPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/sampling',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSamplingPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/domains/$id/settings',
    ...ofOne,
    component: lazyRouteComponent(pages, 'DomainSettingsPage'),
  }),
] as const
