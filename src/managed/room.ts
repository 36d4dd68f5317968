import type { Base, Room } from '../base.ts'
import { managedRoutes } from './routes.ts'

export function openManaged({ db }: Base): Room {
  return { routes: managedRoutes(db) }
}
