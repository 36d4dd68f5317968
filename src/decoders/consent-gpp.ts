import { BitReader } from './bit-reader.ts'
import { readTcString } from './consent-tcf.ts'
import type { Params } from './params.ts'

/** https://github.com/InteractiveAdvertisingBureau/Global-Privacy-Platform/blob/main/Sections/Section%20Information.md */
const SECTIONS = new Map([
  [2, 'tcfeuv2'],
  [5, 'tcfcav1'],
  [6, 'uspv1'],
  [7, 'usnat'],
  [8, 'usca'],
  [9, 'usva'],
  [10, 'usco'],
  [11, 'usut'],
  [12, 'usct'],
  [13, 'usfl'],
  [14, 'usmt'],
  [15, 'usor'],
  [16, 'ustx'],
  [17, 'usde'],
  [18, 'usia'],
  [19, 'usne'],
  [20, 'usnh'],
  [21, 'usnj'],
  [22, 'ustn'],
  [23, 'usmn'],
  [24, 'usmd'],
  [25, 'usin'],
  [26, 'usky'],
  [27, 'usri'],
])
const MAX_SECTIONS = SECTIONS.size

/** The position of a section's first two-bit choice, and the names of its choices in order. */
type Choices = [firstBit: number, ...names: string[]]

const STATE: Choices = [12, 'sale', 'targeted_advertising']
const OTHER_STATES = new Map<string, Choices>([
  ['usnat', [18, 'sale', 'sharing', 'targeted_advertising']],
  ['usca', [12, 'sale', 'sharing']],
  // Sections for two of the states have an additional notice. Sections for four states begin with the scope of the
  // agreement.
  ['usut', [14, 'sale', 'targeted_advertising']],
  ['usia', [14, 'sale', 'targeted_advertising']],
  ['usmd', [16, 'sale', 'targeted_advertising']],
  ['usin', [16, 'sale', 'targeted_advertising']],
  ['usky', [16, 'sale', 'targeted_advertising']],
  ['usri', [16, 'sale', 'targeted_advertising']],
])

const CHOICE = ['not applicable', 'opted out', 'not opted out']

const USP_WORDS: Record<string, [notice: string, sale: string, lspa: string]> = {
  Y: ['given', 'opted out', 'covered'],
  N: ['not given', 'not opted out', 'not covered'],
  '-': ['not applicable', 'not applicable', 'not applicable'],
}

/**
 * Returns the names of the applicable sections listed in `gpp_sid`, such as `usnat,usca`, or `none`. Unknown ids are
 * returned as numbers.
 */
export function readSectionIds(text: string): string | null {
  if (!/^-?\d{1,3}(?:[,_.]-?\d{1,3}){0,30}$/.test(text)) return null
  const ids = text.split(/[,_.]/).map(Number)
  const names = ids.filter((id) => id > 0).map((id) => SECTIONS.get(id) ?? String(id))
  return names.join() || 'none'
}

/**
 * Converts a US privacy string, such as `1YNN`, to readable parameters; null when it is not valid.
 * https://github.com/InteractiveAdvertisingBureau/USPrivacy
 */
export function readUsPrivacy(text: string): Params | null {
  const [, ...letters] = /^1([YN-])([YN-])([YN-])$/.exec(text.toUpperCase()) ?? []
  const [notice, sale, lspa] = letters.map((letter) => USP_WORDS[letter])
  if (!notice || !sale || !lspa) return null
  return {
    'consent.us_privacy.notice': notice[0],
    'consent.us_privacy.sale': sale[1],
    'consent.us_privacy.lspa': lspa[2],
  }
}

/**
 * Converts a string in the format of the IAB's Global Privacy Platform to readable parameters: `consent.gpp.sections
 * = "usnat"`, `consent.usnat.sale = "opted out"`. Its sections for TCF and US privacy are read like separate strings.
 * Null when the string is not valid.
 */
export function readGpp(text: string): Params | null {
  const [header = '', ...sections] = text.split('~', MAX_SECTIONS + 1)
  const names = sectionNames(header)
  if (!names) return null
  const words: Params = { 'consent.gpp.sections': names.join() || 'none' }
  for (const [index, name] of names.entries()) Object.assign(words, readSection(name, sections[index] ?? ''))
  return words
}

/**
 * Reads the header: type 3, version 1, and then the section ids as ranges, whose differences are in Fibonacci coding.
 */
function sectionNames(header: string): string[] | null {
  const bits = header.startsWith('DB') ? BitReader.of(header) : null
  if (!bits) return null
  bits.advance(6 + 6)
  const names: string[] = []
  let id = 0
  for (let ranges = bits.take(12); ranges > 0; ranges--) {
    const isOne = bits.take(1) === 0
    id += takeFibonacci(bits)
    const last = isOne ? id : id + takeFibonacci(bits)
    for (; id <= last && names.length < MAX_SECTIONS; id++) names.push(SECTIONS.get(id) ?? String(id))
    id = last
    if (bits.isShort || names.length >= MAX_SECTIONS) break
  }
  return bits.isShort ? null : names
}

/** https://en.wikipedia.org/wiki/Fibonacci_coding. Ids are small, so reading stops when a code is too long. */
function takeFibonacci(bits: BitReader): number {
  let value = 0
  let previous = 0
  for (let [low, high] = [1, 2], place = 0; place < 20; place++) {
    const bit = bits.take(1)
    if (bit === 1 && previous === 1) return value
    value += bit * low
    previous = bit
    ;[low, high] = [high, low + high]
  }
  return value
}

function readSection(name: string, text: string): Params | null {
  if (name === 'tcfeuv2') return readTcString(text)
  if (name === 'uspv1') return readUsPrivacy(text)
  if (!name.startsWith('us')) return null
  const [core = '', ...segments] = text.split('.', 4)
  const [firstBit, ...choices] = OTHER_STATES.get(name) ?? STATE
  const bits = BitReader.of(core)
  bits?.advance(firstBit)
  const words: Params = {}
  for (const choice of choices) {
    const word = CHOICE[bits?.take(2) ?? -1]
    if (word) words[`consent.${name}.${choice}`] = word
  }
  if (!bits || bits.isShort) return null
  const signal = gpcOf(segments)
  if (signal) words[`consent.${name}.gpc`] = signal
  return words
}

/** Returns the state of the browser's privacy signal (GPC), which the segment of type 1 contains. */
function gpcOf(segments: readonly string[]): string | null {
  for (const segment of segments) {
    const bits = BitReader.of(segment)
    if (bits?.take(2) === 1) return bits.take(1) === 1 ? 'yes' : 'no'
  }
  return null
}
