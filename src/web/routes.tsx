import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import { reportDropped } from './address/dropped.ts'
import type { Fields, SearchOf } from './address/fields.ts'
import { parseSearch, readSearch, SHARED, writeSearch } from './address/search.ts'
import { preload } from './api/queries.ts'
import { ISSUES } from './pages/issues/address.ts'
import { focusNextHeading } from './parts/page-head.tsx'
import { Failed, NotFound } from './shell/faults.tsx'
import { Gate } from './shell/gate.tsx'

/** What a page's address may say, beside project and time range. */
const search = <F extends Fields>(fields: F) => ({
  validateSearch: (raw: Record<string, unknown>): SearchOf<F & typeof SHARED> => {
    const read = readSearch({ ...SHARED, ...fields }, raw)
    reportDropped(read.dropped)
    return read.search
  },
  search: { middlewares: [retainSearchParams(['project', 'range', 'from', 'to'] as never)] },
})

const root = createRootRoute({ component: Gate, notFoundComponent: NotFound, errorComponent: Failed })
const at = { getParentRoute: () => root }

// The code of a page is a file of its own, loaded while the pointer nears its link.
const pages = [
  createRoute({
    ...at,
    path: '/',
    ...search({}),
    component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    ...at,
    path: '/issues',
    ...search(ISSUES),
    loader: () => preload(listIssuesOptions({ query: {} })),
    component: lazyRouteComponent(() => import('./pages/issues/issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    ...at,
    path: '/setup',
    component: lazyRouteComponent(() => import('./pages/sign-in/set-up.tsx'), 'SetUpPage'),
  }),
  createRoute({
    ...at,
    path: '/invite',
    component: lazyRouteComponent(() => import('./pages/sign-in/set-up.tsx'), 'InvitePage'),
  }),
  createRoute({
    ...at,
    path: '/reset',
    component: lazyRouteComponent(() => import('./pages/sign-in/reset.tsx'), 'ResetPage'),
  }),
  createRoute({
    ...at,
    path: '/login',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
] as const

/** All pages by their addresses. */
export const router = createRouter({
  routeTree: root.addChildren(pages),
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  // TanStack Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
})

router.subscribe('onBeforeNavigate', ({ pathChanged, fromLocation }) => {
  if (pathChanged && fromLocation) focusNextHeading()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
