import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

/** The account is the publishable key. */
export const clearbitReveal: Decoder = {
  vendor: 'Clearbit Reveal',
  source: 'https://help.clearbit.com/hc/en-us/articles/360057461334',
  hosts: ['reveal.clearbit.com', 'app.clearbit.com', 'clearbitjs.com', 'clearbitscripts.com'],
  routes: [
    // Requests data on the visitor's company.
    jsonEvent(/^\/v\d\/companies\/reveal$/, { account: 'authorization', event: () => 'reveal' }),
    jsonEvent(/^\/v1\/t(?:rack)?$/, { account: keyOf, event: 'event' }),
    jsonEvent(/^\/v1\/p(?:age)?$/, { account: keyOf, event: () => 'page' }),
    jsonEvent(/^\/v1\/i(?:dentify)?$/, { account: keyOf, event: () => 'identify' }),
    scriptLoad(/^\/v\d\/(?<account>pk_\w+)\/[\w./-]+\.js$/),
    sideChannel(/^\/v\d\//),
  ],
}

function keyOf({ authorization, writeKey, key }: Record<string, unknown>): unknown {
  return authorization ?? writeKey ?? key
}
