import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { gateRoutes } from './routes.ts'

/** Stores the results of the release gate. The gate itself runs where the release is built. */
export function openGate({ db, clock, privacyOf }: HistoryBase): Room {
  return { routes: gateRoutes({ db, clock, privacyOf }) }
}
