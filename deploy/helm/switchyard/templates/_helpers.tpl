{{- define "switchyard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "switchyard.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "switchyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "switchyard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "switchyard.secretName" -}}
{{- .Values.secrets.existing | default (include "switchyard.fullname" .) -}}
{{- end -}}

{{- define "switchyard.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "switchyard.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* A pod is replaced when its configuration or its secrets change. */}}
{{- define "switchyard.checksums" -}}
checksum/config: {{ include (print $.Template.BasePath "/configmap.yaml") . | sha256sum }}
checksum/secret: {{ include (print $.Template.BasePath "/secret.yaml") . | sha256sum }}
{{- end -}}

{{/* What the containers of both kinds of pods share. */}}
{{- define "switchyard.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- toYaml .Values.containerSecurityContext | nindent 2 }}
envFrom:
  - secretRef: { name: {{ include "switchyard.secretName" . }} }
volumeMounts:
  - { name: data, mountPath: /data }
  {{- if .Values.sharedFilesClaim }}
  - { name: files, mountPath: /data/files }
  {{- end }}
  - { name: tmp, mountPath: /tmp }
  - { name: config, mountPath: /etc/switchyard, readOnly: true }
{{- end -}}

{{/* Helm reads the numbers of a values file as float64, which `quote` alone writes as 3.6e+06 from a million on. JSON has all digits. */}}
{{- define "switchyard.environment" -}}
- { name: SWITCHYARD_METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
{{- range $name, $value := .Values.environment }}
- { name: {{ $name }}, value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }} }
{{- end }}
{{- end -}}

{{- define "switchyard.volumes" -}}
{{- if .Values.sharedFilesClaim }}
- name: files
  persistentVolumeClaim: { claimName: {{ .Values.sharedFilesClaim }} }
{{- end }}
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
- name: config
  configMap: { name: {{ include "switchyard.fullname" . }} }
{{- end -}}
