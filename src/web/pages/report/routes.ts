import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { SHOW } from '../../charts/address.ts'
import { at, room } from '../../shell/root.ts'
import { REPORT } from './week.ts'

const pages = room(() => import('./report-page.tsx'))

export const reportRoutes = [
  createRoute({
    ...at,
    path: '/report',
    ...search({ ...REPORT, ...SHOW }),
    component: lazyRouteComponent(pages, 'ReportPage'),
  }),
] as const
