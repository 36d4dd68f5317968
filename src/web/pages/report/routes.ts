import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { lazyPages, underRoot } from '../../shell/root-route.ts'
import { routeSearch } from '../../url-state/route-search-params.ts'
import { REPORT } from './week-param.ts'

const pages = lazyPages(() => import('./report-page.tsx'))

export const reportRoutes = [
  createRoute({
    ...underRoot,
    path: '/report',
    ...routeSearch({ ...REPORT, ...SHOW_PARAM }),
    component: lazyRouteComponent(pages, 'ReportPage'),
  }),
] as const
