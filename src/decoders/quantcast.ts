import type { DecodedEvent, Decoder } from './decoder.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import { readSemicolons } from './semicolon-params.ts'

const PICTURE = /^\/pixel\/(?<account>p-[\w-]+)\.gif$/

export const quantcast: Decoder = {
  vendor: 'Quantcast',
  source: 'https://help.quantcast.com/hc/en-us/articles/115014002728',
  hosts: ['quantserve.com', 'quantcount.com'],
  routes: [
    // Identity sync.
    { ...sideChannel(/^\/(?:d?pixel|data)\b/), when: ({ host }) => host.startsWith('cms.') },
    { path: /^\/pixel;/, read: ({ path }) => readEvent(readSemicolons(path.slice('/pixel;'.length))) },
    { path: PICTURE, read: ({ path, query }) => readEvent({ a: PICTURE.exec(path)?.groups?.account ?? '', ...query }) },
    { path: /^\/pixel$/, read: ({ fields }) => readEvent(fields) },
    scriptLoad(/^\/(?:aq)?quant\.js$/),
    scriptLoad(/^\/rules-(?<account>p-[\w-]+)\.js$/),
  ],
}

/** Reads an event. `event` is the type. `labels` contains labels that the page has set. */
function readEvent(sent: Params): DecodedEvent[] {
  return [{ event: sent.event || 'load', account: scalarOrNull(sent.a), params: sent }]
}
