import type { Decoder } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

/**
 * A container is a single file that sends no requests itself. The requests of its tags are those of the tags' vendors.
 */
export const matomoTagManager: Decoder = {
  vendor: 'Matomo Tag Manager',
  source: 'https://developer.matomo.org/guides/tagmanager/embedding',
  hosts: [],
  routes: [{ ...scriptLoad(/\/container_(?<account>[A-Za-z0-9]{8})(?:_\w+)?\.js$/), anyHost: true }],
}
