import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { searchRoutes } from './routes.ts'

export function openSearch({ db, privacyOf }: HistoryBase): Room {
  return { routes: searchRoutes({ db, privacyOf }) }
}
