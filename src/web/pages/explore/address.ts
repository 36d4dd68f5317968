import { choice, moment, optional, text } from '../../address/fields.ts'
import { RANGES } from '../../address/search.ts'
import { SHOW } from '../../charts/address.ts'

/** What the address of every page of Explore may say. */
export const EXPLORE = { domainId: text }

/** What the address of the dictionary may say: also whether only what is new, or gone, is shown. */
export const DICTIONARY = { ...EXPLORE, q: text, vendor: text, event: text, seen: optional(['new', 'gone']) }

/** What the address of the journeys may say: also the page that is looked at closer, by its step from 0 and its path. */
export const JOURNEYS = { ...EXPLORE, ...SHOW, range: choice(RANGES, '3d'), step: moment, path: text }

/** What the address of the events may say. */
export const EVENTS = { ...EXPLORE, ...SHOW, q: text, vendor: text, event: text, param: text, sessionId: text }
