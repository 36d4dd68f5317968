import { readAddress } from '../core/ip-address.ts'

/** A row of a country file. The addresses are valid until the next row is read. */
export type Row =
  | { kind: 'range'; first: Uint32Array; last: Uint32Array; value: number }
  /** A place that ranges refer to. `country` is its number; 0 for a place without a country, such as a continent. */
  | { kind: 'place'; id: number; country: number }

/** Reads the rows of a file in one format. */
export interface RowReader {
  kind: 'blocks' | 'locations' | 'ranges'
  /** True if the first row contains the names of the columns. */
  hasHeader: boolean
  /** Returns a row, or the reason why it is invalid. */
  read(fields: readonly string[]): Row | string
}

/** Values of ranges from here on are countries. Lower ones are the ids of places; 0 is unknown. */
const FIRST_COUNTRY = 0xffff_0000
const A = 65
const LETTERS = 26

export const isPlace = (value: number): boolean => value < FIRST_COUNTRY

/** Returns the number of a country, from 1 to 676, for the value of a range. */
export const countryNumber = (value: number): number => value - FIRST_COUNTRY

const COUNTRIES = Array.from({ length: LETTERS * LETTERS }, (_, index) =>
  String.fromCharCode(A + Math.floor(index / LETTERS), A + (index % LETTERS)),
)

/** Returns the code of a country; null for 0. */
export const countryOfNumber = (number: number): string | null => COUNTRIES[number - 1] ?? null

/** Publishers write one of these for addresses whose country is unknown. */
const UNKNOWN = ['', '-', 'ZZ']

/** Returns the number of a country's code; 0 if the country is unknown, null if the code is invalid. */
function numberOfCountry(code: string): number | null {
  if (UNKNOWN.includes(code)) return 0
  if (!/^[A-Z]{2}$/.test(code)) return null
  return (code.charCodeAt(0) - A) * LETTERS + code.charCodeAt(1) - A + 1
}

/**
 * Splits a line of a CSV file (RFC 4180) without its line ending. Returns null if a quoted field is not closed, or is
 * followed by anything but a comma.
 */
export function fieldsOf(text: string): string[] | null {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text
  if (!line.includes('"')) return line.split(',')
  const fields: string[] = []
  for (let at = 0; at <= line.length; at++) {
    let end = line.indexOf(',', at)
    if (line[at] === '"') {
      end = line.indexOf('"', at + 1)
      while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2)
      if (end < 0 || (end + 1 < line.length && line[end + 1] !== ',')) return null
      fields.push(line.slice(at + 1, end).replaceAll('""', '"'))
      end++
    } else {
      if (end < 0) end = line.length
      fields.push(line.slice(at, end))
    }
    at = end
  }
  return fields
}

/** Returns the reader for a file whose first row has these fields; null if the format is not recognised. */
export function rowReader(fields: readonly string[]): RowReader | null {
  const column = (name: string) => fields.indexOf(name)
  const [network, place, country] = [column('network'), column('geoname_id'), column('country_iso_code')]
  if (network >= 0 && place >= 0) return blocksReader(network, place)
  if (place >= 0 && country >= 0) return locationsReader(place, country)
  const [first = '', last = ''] = fields
  if (isNumber(first) && isNumber(last) && fields.length >= 3) return rangesReader(readNumbers)
  // A city database of DB-IP has more columns, and the third one is the continent.
  const areAddresses = readAddress(first, FIRST) !== null && readAddress(last, LAST) !== null
  return areAddresses && fields.length === 3 ? rangesReader(readAddresses) : null
}

const FIRST = new Uint32Array(4)
const LAST = new Uint32Array(4)

/** MaxMind's blocks: https://dev.maxmind.com/geoip/docs/databases/city-and-country#csv-databases */
function blocksReader(network: number, place: number): RowReader {
  return {
    kind: 'blocks',
    hasHeader: true,
    read(fields) {
      const block = fields[network] ?? ''
      const id = fields[place] ?? ''
      if (!readNetwork(block)) return `network: must be a network such as 192.0.2.0/24, not ${quoted(block)}`
      // The country in which the network is registered often differs from that of its users.
      if (id === '') return range(0)
      return isPlaceId(id) ? range(Number(id)) : `geoname_id: must be a number, not ${quoted(id)}`
    },
  }
}

/** MaxMind's locations. */
function locationsReader(place: number, country: number): RowReader {
  return {
    kind: 'locations',
    hasHeader: true,
    read(fields) {
      const id = fields[place] ?? ''
      const code = fields[country] ?? ''
      const number = numberOfCountry(code)
      if (!isPlaceId(id)) return `geoname_id: must be a number, not ${quoted(id)}`
      if (number === null) return `country_iso_code: ${notACountry(code)}`
      return { kind: 'place', id: Number(id), country: number }
    },
  }
}

/** IP2Location's and DB-IP's ranges: https://lite.ip2location.com/database/ip-country, https://db-ip.com/db/format/ip-to-country-lite/csv.html */
function rangesReader(readRange: (first: string, last: string) => string | null): RowReader {
  return {
    kind: 'ranges',
    hasHeader: false,
    read([first = '', last = '', code = '']) {
      const fault = readRange(first, last)
      if (fault !== null) return fault
      const number = numberOfCountry(code)
      if (number === null) return `country: ${notACountry(code)}`
      return range(number === 0 ? 0 : FIRST_COUNTRY + number)
    },
  }
}

const range = (value: number): Row => ({ kind: 'range', first: FIRST, last: LAST, value })

const notACountry = (code: string) => `must be two capital letters, or "-" if unknown, not ${quoted(code)}`

const quoted = (text: string) => JSON.stringify(text.length > 50 ? `${text.slice(0, 50)}…` : text)

const isPlaceId = (text: string) => /^\d{1,10}$/.test(text) && isPlace(Number(text))

const isNumber = (text: string) => /^\d{1,39}$/.test(text)

/** Writes the first and last address of a network. Returns false if the network is invalid. */
function readNetwork(text: string): boolean {
  const slash = text.indexOf('/')
  const family = readAddress(slash < 0 ? text : text.slice(0, slash), FIRST)
  if (family === null) return false
  const width = family === 4 ? 32 : 128
  const length = slash < 0 ? `${width}` : text.slice(slash + 1)
  if (!/^\d{1,3}$/.test(length) || Number(length) > width) return false
  const bits = Number(length) + 128 - width
  for (let word = 0; word < 4; word++) {
    const inWord = Math.max(0, Math.min(32, bits - 32 * word))
    const hosts = inWord === 32 ? 0 : 0xffff_ffff >>> inWord
    LAST[word] = (FIRST[word] ?? 0) | hosts
    FIRST[word] = (FIRST[word] ?? 0) & ~hosts
  }
  return true
}

/** Writes the first and last address of a range. Returns the reason if the range is invalid, otherwise null. */
function readAddresses(first: string, last: string): string | null {
  const families = [readAddress(first, FIRST), readAddress(last, LAST)]
  if (families[0] === null) return `first address: ${quoted(first)} is not an IP address`
  if (families[1] === null) return `last address: ${quoted(last)} is not an IP address`
  return families[0] === families[1] ? orderFault() : 'last address: must be of the same IP version as the first'
}

/**
 * Like `readAddresses`, for addresses as decimal numbers. Numbers below 2^32 are IPv4 addresses, unless the range ends
 * above: files of IPv6 ranges begin with one from 0.
 */
function readNumbers(first: string, last: string): string | null {
  if (!isNumber(first)) return `first address: ${quoted(first)} is not a number`
  if (!isNumber(last)) return `last address: ${quoted(last)} is not a number`
  const isV4 = last.length <= 15 && Number(last) <= 0xffff_ffff
  if (!readNumber(last, isV4, LAST)) return 'last address: must be below 2^128'
  if (!readNumber(first, isV4, FIRST)) return 'first address: must not be after the last address'
  return orderFault()
}

/** Returns false if the number is too large. */
function readNumber(text: string, isV4: boolean, into: Uint32Array): boolean {
  const value = BigInt(text)
  const number = isV4 ? value + 0xffff_0000_0000n : value
  if (isV4 ? value > 0xffff_ffffn : number >> 128n > 0n) return false
  for (let word = 0; word < 4; word++) into[word] = Number((number >> BigInt(96 - 32 * word)) & 0xffff_ffffn)
  return true
}

function orderFault(): string | null {
  for (let word = 0; word < 4; word++) {
    const difference = (LAST[word] ?? 0) - (FIRST[word] ?? 0)
    if (difference > 0) return null
    if (difference < 0) return 'first address: must not be after the last address'
  }
  return null
}
