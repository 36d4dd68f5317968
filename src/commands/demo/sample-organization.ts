import { randomBytes } from 'node:crypto'
import type { Role } from '../../contract/roles.ts'
import type { Clock } from '../../core/clock.ts'
import { openStores } from '../../data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../domains/store.ts'
import { createKey } from '../../org/api-key-store.ts'
import { addMember, createUser, initialize } from '../../org/store.ts'
import { HOSTS } from './sample-sites.ts'

/** The sample organization with its members and its domains by host. */
export interface SampleOrganization {
  owner: { email: string; password: string; key: string }
  /** API keys of the members who act in the simulated history. */
  keys: { mara: string; jonas: string }
  domainIds: Record<string, string>
  tokens: Record<string, string>
}

/** Creates the sample organization in an empty data folder, as `tagwarden init` does. */
export async function createSampleOrganization(folder: string, clock: Clock): Promise<SampleOrganization> {
  const { db, box } = openStores(folder)
  try {
    const login = { email: 'owner@shop.example', password: randomBytes(9).toString('base64url') }
    const { apiKey, orgId } = await initialize(db, box, clock, { ...login, name: 'Kim Arens', orgName: 'Sample Shop' })
    const join = (email: string, name: string, role: Role): string => {
      const { id: userId } = createUser(db, clock, { email, name })
      addMember(db, clock, { orgId, userId, role })
      return createKey(db, clock, { userId, orgId, name: 'My key', expiresInDays: null }).secret
    }
    const keys = {
      mara: join('mara@shop.example', 'Mara Lind', 'admin'),
      jonas: join('jonas@shop.example', 'Jonas Weber', 'member'),
    }
    const domainIds: Record<string, string> = {}
    const tokens: Record<string, string> = {}
    for (const host of Object.values(HOSTS)) {
      const id = createDomain(db, clock, orgId, { name: host, monitoredUrls: [`https://${host}/`] })
      domainIds[host] = id
      tokens[host] = findDomain(db, { orgId, id }, clock.now()).token
    }
    return { owner: { ...login, key: apiKey }, keys, domainIds, tokens }
  } finally {
    db.close()
  }
}
