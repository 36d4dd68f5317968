import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { orderRoutes } from './routes.ts'

export function openOrders({ db, clock }: HistoryBase): Room {
  return { routes: orderRoutes({ db, clock }) }
}
