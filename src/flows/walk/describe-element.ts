import type { CDPSession, ElementHandle, Frame } from 'puppeteer-core'
import { maskPersonal } from '../../conditions/mask-personal-data.ts'
import { cutText } from '../../core/text.ts'
import type { KnownElement, KnownFrame } from '../known-element.ts'
import type { Selector } from '../recorder-export.ts'
import { appearanceOf, pathTo, visibleAmong } from './in-page-functions.ts'

const MAX_TEXT = 200
/**
 * Maximum number of elements compared with the known element. A page may have thousands of elements of the same kind.
 */
const MAX_COMPARED = 200
/** Minimum length of typed text that is removed from names. Shorter text occurs too often by chance. */
const MIN_TYPED = 3
/** Roles that do not describe an element. */
const VAGUE_ROLES = new Set(['', 'generic', 'none', 'presentation', 'StaticText', 'InlineTextBox'])

/** Removes secrets, personal data and typed text from a string. */
export type Discretion = (text: string) => string

/**
 * Returns a function that removes private data from names and texts.
 * @param typed strings typed during the run, which may reappear in names such as `Deliver to Jane Doe`
 */
export function discretionOf(mask: (text: string) => string, typed: readonly string[]): Discretion {
  const said = typed.filter((text) => text.length >= MIN_TYPED).toSorted((a, b) => b.length - a.length)
  return (text) => maskPersonal(said.reduce((left, one) => left.replaceAll(one, '***'), mask(text)))
}

/** Returns the known properties of an element, without typed text. */
export async function describe(element: ElementHandle<Element>, discreet: Discretion): Promise<KnownElement> {
  const [{ role, name }, { tag, text }] = await Promise.all([accessOf(element), element.evaluate(appearanceOf)])
  const said = (value: string) => cutText(discreet(value.replaceAll(/\s+/g, ' ').trim()), MAX_TEXT)
  return { role, name: said(name), tag, text: said(text) }
}

/** Returns the known properties of a frame; null when it has no property that identifies it. */
export function describeFrame(frame: Frame, discreet: Discretion): KnownFrame | null {
  const { host = '', pathname = '' } = URL.parse(frame.url()) ?? {}
  const said = (value: string) => cutText(discreet(value), MAX_TEXT)
  const [name, place] = [said(frame.name()), host && said(host + pathname)]
  return name || place ? { name, place } : null
}

/**
 * Returns functions that check whether a frame is the known one, strictest first. Looser checks are needed because
 * names and URLs may change with each visit.
 */
export function likeFrame(known: KnownFrame, discreet: Discretion): ((frame: Frame) => boolean)[] {
  const isSame = (frame: Frame, field: keyof KnownFrame) => describeFrame(frame, discreet)?.[field] === known[field]
  const isPlace = (frame: Frame) => known.place !== '' && isSame(frame, 'place')
  const isName = (frame: Frame) => known.name !== '' && isSame(frame, 'name')
  return [(frame) => isPlace(frame) && isName(frame), isPlace, isName]
}

/** Returns the role and the accessible name as computed by Chromium. */
async function accessOf(element: ElementHandle<Element>): Promise<{ role: string; name: string }> {
  const { objectId } = element.remoteObject()
  // Frames from other sites have a separate CDP session. Puppeteer has this property but does not declare its type.
  const { client } = element.frame as unknown as { client: CDPSession }
  const { nodes } = await client.send('Accessibility.getPartialAXTree', {
    ...(objectId === undefined ? {} : { objectId }),
    fetchRelatives: false,
  })
  const [node] = nodes
  const role = node && !node.ignored ? String(node.role?.value ?? '') : ''
  return { role, name: role ? String(node?.name?.value ?? '') : '' }
}

/**
 * Returns the visible elements that are most similar to the known one. The list may be empty, or contain several
 * elements that are equally similar.
 */
export async function findAlike(
  frame: Frame,
  known: KnownElement,
  discreet: Discretion,
): Promise<ElementHandle<Element>[]> {
  if (!known.name && !known.text) return []
  const byRole = VAGUE_ROLES.has(known.role) ? [] : await visible(frame, `aria/[role="${known.role}"]`)
  const byTag = await visible(frame, `pierce/${known.tag}`)
  let best: { likeness: number; elements: ElementHandle<Element>[] } = { likeness: 0, elements: [] }
  for (const element of [...byRole, ...byTag].slice(0, MAX_COMPARED)) {
    const likeness = likenessOf(known, await describe(element, discreet))
    if (likeness === 0 || likeness < best.likeness) continue
    best = { likeness, elements: likeness > best.likeness ? [element] : [...best.elements, element] }
  }
  return distinct(best.elements)
}

/**
 * Returns the similarity: 3 for the same role, name and text; 2 for the same role and either name or text; 1 for the
 * same tag and either name or text; otherwise 0.
 */
function likenessOf(known: KnownElement, seen: KnownElement): number {
  const same = (a: string, b: string) => a !== '' && a.toLowerCase() === b.toLowerCase()
  const name = same(known.name, seen.name)
  const text = same(known.text, seen.text)
  if (!name && !text) return 0
  const isRole = known.role === seen.role && !VAGUE_ROLES.has(known.role)
  if (isRole) return (name || known.name === '') && (text || known.text === '') ? 3 : 2
  return known.tag === seen.tag ? 1 : 0
}

/** Returns the visible elements that match a selector, without elements nested in another match. */
async function visible(frame: Frame, selector: string): Promise<ElementHandle<Element>[]> {
  return sift((await frame.$$(selector)) as ElementHandle<Element>[])
}

/** Returns the visible elements in this list. Of nested elements, only the outermost is returned. */
export async function sift(elements: readonly ElementHandle<Element>[]): Promise<ElementHandle<Element>[]> {
  const [first, ...others] = elements
  if (!first) return []
  const indexes = await first.evaluate(visibleAmong, ...others)
  return indexes.flatMap((index) => elements[index] ?? [])
}

/** Removes duplicates, because two queries may return the same element. */
async function distinct(elements: readonly ElementHandle<Element>[]): Promise<ElementHandle<Element>[]> {
  const [first, ...others] = elements
  if (!first || others.length === 0) return [...elements]
  const indexes = await first.evaluate(
    (one: Element, ...rest: Element[]) => {
      const all = [one, ...rest]
      return all.flatMap((element, index) => (all.indexOf(element) === index ? [index] : []))
    },
    ...others,
  )
  return indexes.flatMap((index) => elements[index] ?? [])
}

/**
 * Returns a selector that matches only this element. The selector is based on the element's name if possible, otherwise
 * on its position.
 */
export async function selectorFor(element: ElementHandle<Element>, known: KnownElement): Promise<Selector> {
  const frame = element.frame
  const named = /^[^[\]"'*]+$/.test(known.name) && !VAGUE_ROLES.has(known.role)
  if (named) {
    const selector = `aria/${known.name}[role="${known.role}"]`
    if ((await visible(frame, selector)).length === 1) return selector
  }
  const way = await element.evaluate(pathTo)
  return way.length === 1 ? (way[0] ?? '') : way
}
