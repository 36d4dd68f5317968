import { choice, moment, optional, text } from '../../address/fields.ts'
import { RANGES } from '../../address/search.ts'
import { SHOW } from '../../charts/address.ts'

/** Search parameters of every Explore page. */
export const EXPLORE = { domainId: text }

/** Search parameters of the dictionary; `seen` limits it to new or gone keys. */
export const DICTIONARY = { ...EXPLORE, q: text, vendor: text, event: text, seen: optional(['new', 'gone']) }

/** Search parameters of the journeys; `step` (from 0) and `path` select a page. */
export const JOURNEYS = { ...EXPLORE, ...SHOW, range: choice(RANGES, '3d'), step: moment, path: text }

/** Search parameters of the events. */
export const EVENTS = { ...EXPLORE, ...SHOW, q: text, vendor: text, event: text, param: text, sessionId: text }
