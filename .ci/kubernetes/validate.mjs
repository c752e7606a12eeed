#!/usr/bin/env node
// Reads objects of Kubernetes as YAML from standard input and prints where they do not fit their schemas, one fault a
// line; prints nothing if they fit.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseAllDocuments } from 'yaml'

const load = createRequire(import.meta.url)

for (const document of parseAllDocuments(readFileSync(0, 'utf8'))) {
  const object = document.toJS()
  const name = `${object.kind} ${object.metadata.name}`
  // The schemas allow fields that they do not know, and Kubernetes leaves such fields out in silence. They are the
  // fields that the validator never reads.
  const unread = new Set()
  try {
    schemaOf(object).validate.call(watched(object, '', unread))
  } catch (error) {
    console.log(`${name}: ${error.message}`)
  }
  for (const path of unread) console.log(`${name}: ${path} is not known`)
}

function schemaOf({ apiVersion, kind }) {
  const folder = apiVersion.startsWith('monitoring.coreos.com/')
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`
  return load(`${folder}/${kind}`)[kind].prototype
}

/** The same value; what is read of it, at any depth, leaves `unread`. */
function watched(value, path, unread) {
  if (value === null || typeof value !== 'object') return value
  const parts = new Map()
  for (const [key, part] of Object.entries(value)) {
    const place = `${path}/${key}`
    unread.add(place)
    parts.set(key, () => (unread.delete(place), watched(part, place, unread)))
  }
  return new Proxy(value, {
    get: (target, key) => parts.get(key)?.() ?? Reflect.get(target, key),
  })
}
