import type { Base, Room } from '../base.ts'
import { Emitter } from '../core/emitter.ts'
import { labelRoutes } from './routes.ts'

export interface LabelsRoom extends Room {
  /** Emits the id of an organization whose labels have changed. */
  changed: Emitter<string>
}

export function openLabels({ db, clock }: Base): LabelsRoom {
  const changed = new Emitter<string>()
  return { changed, routes: labelRoutes({ db, clock, changed: (orgId) => changed.emit(orgId) }) }
}
