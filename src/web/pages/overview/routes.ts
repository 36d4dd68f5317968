import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { preloadOverview } from './queries.ts'

const pages = lazyPages(() => import('./overview-page.tsx'))

export const overviewRoutes = [
  createRoute({
    ...underRoot,
    path: '/',
    ...routeSearch(SHOW_PARAM),
    loaderDeps: ({ search }) => ({ project: search.project ?? '' }),
    loader: ({ deps }) => preloadOverview(deps.project),
    component: lazyRouteComponent(pages, 'OverviewPage'),
  }),
] as const
