import type { Base, Room } from '../base.ts'
import { type MaintenanceRouteDeps, maintenanceRoutes } from './routes.ts'

export function openMaintenance({ db, clock }: Base, { changed }: Pick<MaintenanceRouteDeps, 'changed'>): Room {
  return { routes: maintenanceRoutes({ db, clock, changed }) }
}
