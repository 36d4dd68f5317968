import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { search } from '../../address/page-search.ts'
import { at, room } from '../../shell/root.ts'
import { COMPLIANCE } from './address.ts'

const pages = room(() => import('./compliance-page.tsx'))

export const complianceRoutes = [
  createRoute({
    ...at,
    path: '/compliance',
    ...search(COMPLIANCE),
    component: lazyRouteComponent(pages, 'CompliancePage'),
  }),
] as const
