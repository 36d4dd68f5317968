import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BuildInfo } from '../core/build-info.ts'
import { lockedPackages } from './native-packages.ts'

const ROOT = resolve(import.meta.dir, '../..')

/** A package from which the program is built. */
export interface ThirdParty {
  name: string
  version: string
  /** SPDX expression, such as `MIT`. */
  license: string
  /** The packages that it depends on, as `name@version`. */
  dependsOn: readonly string[]
  /** Content of its licence and notice files; empty if it contains none. */
  text: string
}

interface Manifest {
  name: string
  version: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const dependenciesOf = ({ dependencies, optionalDependencies }: Manifest) =>
  Object.keys({ ...dependencies, ...optionalDependencies })

/** Packages of a single platform, which `build.ts` exchanges. Their parent packages have the same licence. */
const OF_A_PLATFORM = /-(?:linux|darwin|win32|windows|freebsd|android)(?:-|$)/

/**
 * Returns the packages that the program depends on, directly or through others, by name and version. Packages that only
 * tests use are omitted. Throws if a package states no licence.
 */
export function thirdParties(root = ROOT): ThirdParty[] {
  const found = new Map<string, ThirdParty>()
  const visit = (manifest: Manifest, from: string): string[] =>
    dependenciesOf(manifest).flatMap((name) => {
      const folder = OF_A_PLATFORM.test(name) ? null : findPackage(name, from, root)
      if (folder === null) return []
      const own = manifestOf(folder)
      const { version, license } = own
      const id = `${name}@${version}`
      if (found.has(id)) return [id]
      if (!license) throw new Error(`${id} states no licence`)
      const party = { name, version, license, dependsOn: [] as string[], text: licenceText(folder) }
      found.set(id, party)
      party.dependsOn = visit(own, folder)
      return [id]
    })
  visit(manifestOf(root), root)
  return [...found.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, party]) => party)
}

/** Returns the folder of a package as Node resolves it; null for an optional dependency that is not installed. */
function findPackage(name: string, from: string, root: string): string | null {
  for (let folder = from; ; folder = resolve(folder, '..')) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === root) return null
  }
}

function licenceText(folder: string): string {
  const files = readdirSync(folder, { withFileTypes: true })
  return files
    .filter((file) => file.isFile() && /^(?:licen[cs]e|copying|notice)/i.test(file.name))
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n')
}

const LINE = '-'.repeat(80)

/** Bun's licence: https://bun.com/docs/project/licensing */
const BUN_NOTE = `Bun is distributed under the MIT licence. It statically links JavaScriptCore (WebKit, LGPL-2.1) and other libraries
under the licences listed at https://bun.com/docs/project/licensing, where their sources can be obtained.`

/** Returns the licences of all packages as plain text. */
export function thirdPartyLicenses(parties = thirdParties()): string {
  const parts = parties.map(({ name, version, license, text }) => {
    const note = name === 'bun' ? BUN_NOTE : 'The package contains no licence text.'
    return `${LINE}\n${name} ${version}\nLicence: ${license}\n\n${text || note}\n`
  })
  return `Tagwarden contains the following packages.\n\n${parts.join('\n')}`
}

/** Returns a bill of materials in CycloneDX 1.6 format: https://cyclonedx.org/docs/1.6/json/ */
export function billOfMaterials({ version, commit, date }: BuildInfo, parties = thirdParties()): object {
  const hashes = new Map(lockedPackages().map((one) => [idOf(one), Buffer.from(one.sha512, 'base64').toString('hex')]))
  const own = `pkg:generic/tagwarden@${version}`
  const direct = dependenciesOf(manifestOf(ROOT))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      ...(date !== null && { timestamp: `${date}T00:00:00Z` }),
      component: {
        type: 'application',
        'bom-ref': own,
        name: 'tagwarden',
        version,
        ...(commit !== null && { properties: [{ name: 'tagwarden:commit', value: commit }] }),
      },
    },
    components: parties.map((party) => ({
      type: 'library',
      'bom-ref': purlOf(idOf(party)),
      name: party.name,
      version: party.version,
      purl: purlOf(idOf(party)),
      licenses: [
        / (?:OR|AND) /.test(party.license) ? { expression: party.license } : { license: { id: party.license } },
      ],
      hashes: [{ alg: 'SHA-512', content: hashes.get(idOf(party)) }],
    })),
    dependencies: [
      { ref: own, dependsOn: parties.filter(({ name }) => direct.includes(name)).map((party) => purlOf(idOf(party))) },
      ...parties.map((party) => ({ ref: purlOf(idOf(party)), dependsOn: party.dependsOn.map(purlOf) })),
    ],
  }
}

const idOf = ({ name, version }: Pick<ThirdParty, 'name' | 'version'>) => `${name}@${version}`
/** https://github.com/package-url/purl-spec */
const purlOf = (id: string) => `pkg:npm/${id.startsWith('@') ? `%40${id.slice(1)}` : id}`
