import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHOW } from '../../charts/address.ts'
import { at, room } from '../../shell/root.ts'
import { preloadOverview } from './queries.ts'

const pages = room(() => import('./overview-page.tsx'))

export const overviewRoutes = [
  createRoute({
    ...at,
    path: '/',
    ...search(SHOW),
    loaderDeps: ({ search }) => ({ project: search.project ?? '' }),
    loader: ({ deps }) => preloadOverview(deps.project),
    component: lazyRouteComponent(pages, 'OverviewPage'),
  }),
] as const
