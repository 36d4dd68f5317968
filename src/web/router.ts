import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { PagePath } from '../contract/page-paths.ts'
import { prefetch } from './api/queries.ts'
import { focusNextHeading } from './components/page-header.tsx'
import { pages, redirects } from './pages/index.ts'
import type { Page, PageValues } from './pages/page.ts'
import { AuthGate } from './shell/auth-gate.tsx'
import { NotFound, PageError } from './shell/error-pages.tsx'
import type { ParamTypes } from './url-state/param-types.ts'
import { routeSearch } from './url-state/route-search-params.ts'
import { parseSearch, SHARED_PARAMS, valuesOf, writeSearch } from './url-state/search-params.ts'

const root = createRootRoute({ component: AuthGate, notFoundComponent: NotFound, errorComponent: PageError })
const getParentRoute = () => root

const routeOf = <Path extends PagePath, Fields extends ParamTypes>({
  path,
  search,
  queries,
  view,
}: Page<Path, Fields>) =>
  createRoute({
    getParentRoute,
    path,
    ...routeSearch(search),
    loaderDeps: ({ search }) => search,
    loader({ deps, params }) {
      const values = { ...valuesOf({ ...SHARED_PARAMS, ...search }, deps), id: '', ...params }
      for (const query of queries(values as PageValues<Fields>)) void prefetch(query)
    },
    component: view,
  })

/** The routes of these pages, with the types of their paths and search params. */
type RoutesOf<Pages extends readonly unknown[]> = {
  -readonly [Index in keyof Pages]: Pages[Index] extends Page<infer Path, infer Fields>
    ? ReturnType<typeof routeOf<Path, Fields>>
    : never
}

const redirectOf = (path: keyof typeof redirects, to: PagePath) =>
  createRoute({
    getParentRoute,
    path,
    beforeLoad({ params }) {
      throw redirect({ to, params, replace: true } as never)
    },
  })

/** The routes of all pages. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...(pages.map((page) => routeOf(page as Page)) as unknown as RoutesOf<typeof pages>),
    ...Object.entries(redirects).map(([path, to]) => redirectOf(path as keyof typeof redirects, to)),
  ]),
  parseSearch,
  stringifySearch: writeSearch,
  // Rendered within the shell, so that navigation remains available.
  defaultErrorComponent: PageError,
  defaultPreload: 'intent',
  // TanStack Query handles staleness.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Resets local state when another resource is opened.
  defaultRemountDeps: ({ params }) => params,
})

router.subscribe('onBeforeNavigate', ({ pathChanged, fromLocation }) => {
  if (pathChanged && fromLocation) focusNextHeading()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
