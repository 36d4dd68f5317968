import { Closed, type Static, Type } from '../core/schema.ts'
import type { DomainRecord } from '../domains/domain.ts'
import { type ClientValues, clientFile } from './clients/index.ts'

export const SetupGuideSchema = Closed(
  {
    files: Type.Array(
      Closed({
        name: Type.String({ description: 'Suggested name of the file' }),
        label: Type.String(),
        language: Type.String({ description: 'html, javascript, shell, python, kotlin, swift or text' }),
        code: Type.String(),
      }),
      { description: 'Code to install, with URL and token. The first file is the recommended one' },
    ),
    steps: Type.Array(Type.String(), { description: 'Steps to follow, in order' }),
    sampling: Type.String({ description: 'Sampling options and recommendations' }),
  },
  {
    $id: 'SetupGuide',
    description: 'How to install Tagwarden in a domain with this `system`',
    examples: [
      {
        files: [{ name: 'head.html', label: 'Head snippet', language: 'html', code: '<script>(()=>{…})();</script>' }],
        steps: ['Paste the code as the first element of <head>, on every page.'],
        sampling: 'Page views can be sampled by session, under Sampling.',
      },
    ],
  },
)
export type SetupGuide = Static<typeof SetupGuideSchema>

export interface GuideValues extends ClientValues {
  /** HTML for `<head>`; `script` is the JavaScript in it, without the element. */
  head: string
  script: string
  /** The custom template for Google Tag Manager. */
  template: string
}

/** Returns instructions for installing Tagwarden in a domain of the given system. */
export function setupGuide(system: DomainRecord['system'], values: GuideValues): SetupGuide {
  const { head, script, template } = values
  const headFile = { name: 'head.html', label: 'Head snippet', language: 'html', code: head }
  const scriptFile = { name: 'tagwarden.js', label: 'JavaScript', language: 'javascript', code: script }
  const templateFile = { name: 'tagwarden.tpl', label: 'Custom template', language: 'text', code: template }
  const tagFile = { ...headFile, name: 'custom-html-tag.html', label: 'Custom HTML tag' }
  switch (system) {
    case 'global':
      return { files: [headFile], steps: IN_HEAD, sampling: BY_SESSION }
    case 'tag_manager':
      return { files: [templateFile, tagFile], steps: [...WITH_TEMPLATE, ...WITH_CUSTOM_HTML], sampling: BY_SESSION }
    case 'tag_manager_global':
      return { files: [headFile, templateFile], steps: [...IN_HEAD, ...WITH_TEMPLATE], sampling: BY_SESSION }
    case 'tag_system_a':
      return { files: [scriptFile, headFile], steps: [...IN_TEALIUM, INSTEAD], sampling: BY_SESSION }
    case 'tag_system_b':
      return { files: [scriptFile, headFile], steps: [...IN_ADOBE, INSTEAD], sampling: BY_SESSION }
    case 'tag_system_c':
      return { files: [scriptFile, headFile], steps: [...IN_ENSIGHTEN, INSTEAD], sampling: BY_SESSION }
    case 'server':
      return {
        files: [clientFile('node', values), clientFile('python', values), clientFile('shell', values)],
        steps: ON_SERVER,
        sampling: ALL_OF_SERVER,
      }
    case 'mobile_a':
      return {
        files: [clientFile('kotlin', values), clientFile('kotlinExample', values)],
        steps: [...ON_ANDROID, ...IN_APP],
        sampling: BY_DEVICE,
      }
    case 'mobile_b':
      return {
        files: [clientFile('swift', values), clientFile('swiftExample', values)],
        steps: [...ON_IOS, ...IN_APP],
        sampling: BY_DEVICE,
      }
  }
}

const BY_SESSION =
  'Start by capturing everything. If there are too many page views, keep only a share of them under Sampling: conversions and errors are ' +
  'still kept in full. Under Settings, you can also limit capture to a share of all sessions. Counts are weighted in both cases.'

const IN_HEAD = [
  'Paste the head snippet as the first element of <head>, on every page, before all tags. There, it also detects a tag manager that fails to load.',
  "If the site has a content security policy, allow the collector's host in script-src and connect-src, and the inline script by hash or nonce.",
]

// https://support.google.com/tagmanager/answer/10718549
const WITH_TEMPLATE = [
  'The Google Tag Manager integration can do all of this for you. To do it by hand, save the custom template as tagwarden.tpl and import it in Google Tag Manager: under Templates, create a tag template and choose Import in its menu.',
  'Create a tag from this template. As its trigger, create a custom event with the event name .* and "Use regex matching", so that it reports the tags of every event. Add the trigger "Initialization - All Pages" so that it loads early.',
  'In the Advanced settings of each tag to monitor, add the metadata key name with the name of the tag as its value. Give the Tagwarden tag the metadata key exclude with the value true.',
  "In its consent settings, choose \"No additional consent required\": by default, nothing is stored in the browser. If sessions last as long as the tab (session mode sessionStorage), call tagwarden('consent', 'granted') when the visitor consents.",
  'Preview, then publish the container.',
]

const WITH_CUSTOM_HTML = [
  'If custom templates are not allowed, create a Custom HTML tag with the code instead, with the trigger "Initialization - All Pages" and the same consent settings. It captures requests, but does not report which tags ran.',
]

// https://docs.tealium.com/iq-tag-management/extensions/extensions-list/advanced-javascript-code-extension/
const IN_TEALIUM = [
  'In Tealium iQ, add the Advanced JavaScript Code extension. Choose the scope Pre Loader, so that it runs before all tags.',
  'Paste the code unchanged, without <script>. Do not add a consent condition, because Tagwarden checks the consent of the other tags.',
  'Save, publish to Dev or QA, check the first event below, then publish to Prod.',
]

// https://experienceleague.adobe.com/en/docs/experience-platform/tags/extensions/client/core/overview
const IN_ADOBE = [
  'In Adobe Experience Platform Tags, create a rule with the event Library Loaded (Page Top) of the Core extension, and set its order to 1, before all other rules.',
  'Add the action Custom Code of the Core extension, choose JavaScript, and paste the code unchanged, without <script>.',
  'Add the rule to a library, build it for Development, check the first event below, then publish it to Production.',
]

const IN_ENSIGHTEN = [
  'In Ensighten Manage, create a custom tag in the space for the site, with a condition that is met on every page.',
  'Paste the code unchanged, without <script>, and choose immediate execution, with no dependency on other tags.',
  'Publish it to the test space, check the first event below, then publish it to production.',
]

const INSTEAD =
  'If you can change the pages, paste the head snippet as the first element of <head> instead: it then runs before the tag system, and detects when the tag system fails to load.'

const ON_SERVER = [
  'Save the file for your language in your project. It has no dependencies. For other languages, run the shell script, which uses curl, or send batches yourself.',
  'Give it a folder that survives a restart. Events are stored there, up to 50 MB, while Tagwarden or the network is unavailable. Each process needs a separate folder.',
  'Each time your server sends an event to a vendor, call track with the vendor, the event, the outcome (ok, failure, exception, timeout or blocked) and the parameters.',
  'Close it when the process ends. Unsent events are sent after the next start, and are counted only once.',
  'Use env dev outside production, and pass your release number as version: Tagwarden compares releases by version.',
]

const ALL_OF_SERVER =
  'Send every event: servers send few events, and each one matters for the rules. There are no page views to sample. If you ' +
  'must drop events, drop whole sessions and pass the share you keep as sampleRate with each batch, so that counts are weighted.'

const ON_ANDROID = [
  'Save Tagwarden.kt in the source folder of the app and change its package. It has no dependencies, and requires Kotlin 1.5 or later and API level 21 or later.',
  'Add the permission android.permission.INTERNET to the manifest.',
  'Create one Tagwarden instance in the Application class, and call flush when the app goes to the background, as in the example.',
]

const ON_IOS = [
  'Add Tagwarden.swift to the target of the app. It has no dependencies, and requires Swift 5.5 or later and iOS 12 or later.',
  'Create one Tagwarden instance, and call flush when the app goes to the background, as in the example. App extensions need a separate instance with another folder.',
  'Declare the events in the privacy manifest and in the privacy details of the app in App Store Connect, as for other analytics.',
]

const IN_APP = [
  'Call screen when a screen appears. Its URL, with a scheme of your choice, determines the path of the events that follow, for rules and journeys.',
  "Call track with the vendor, the event and its parameters wherever the app sends an event to a vendor's SDK. Events are stored in a file, up to 5 MB, while the device is offline.",
  'Use env dev in debug builds, and pass the build number as version: Tagwarden compares releases by version.',
]

const BY_DEVICE =
  'With many users, a share of the devices is sufficient. Each device decides based on its random installation id, so it is ' +
  'either always or never included, and its journeys are complete. Counts are weighted by the share. The code contains the shares ' +
  'shown below: a new share takes effect with the next release of the app.'
